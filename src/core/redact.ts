const hidden = "[redacted]";

/** Text to be logged or shown in an error: without credentials after their scheme, in a URL, or assigned to a name. */
export function redactText(text: string): string {
  return (
    text
      .replace(/\b(bearer|basic)\s+[\w.~+/=-]{4,}/gi, `$1 ${hidden}`)
      .replace(/(:\/\/)[^/?#\s]*@/g, `$1${hidden}@`)
      // In what is no URL a password may have any character; a port is none.
      .replace(/(:\/\/)[^/?#\s:@]+:(?!\d+[/?#])[^\s@]+@/g, `$1${hidden}@`)
      .replace(/\b([\w-]*(?:token|secret|password|api[-_]?key)[\w-]*)=[^&\s"']+/gi, `$1=${hidden}`)
      .replace(/([?&](?:code|key|sig|signature|pass|pwd|auth))=[^&\s"']+/gi, `$1=${hidden}`)
  );
}
