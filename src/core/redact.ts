const hidden = "[redacted]";

/** Removes credentials from a text for a log or an error: after their scheme, in a URL, or assigned to a name. */
export function redactText(text: string): string {
  return (
    text
      .replace(/\b(bearer|basic)\s+[\w.~+/=-]{4,}/gi, `$1 ${hidden}`)
      .replace(/(:\/\/)[^/?#\s]*@/g, `$1${hidden}@`)
      // A password in a malformed URL may contain any character. A port is not a password.
      .replace(/(:\/\/)[^/?#\s:@]+:(?!\d+[/?#])[^\s@]+@/g, `$1${hidden}@`)
      .replace(/\b([\w-]*(?:token|secret|password|api[-_]?key)[\w-]*)=[^&\s"']+/gi, `$1=${hidden}`)
      .replace(/([?&](?:code|key|sig|signature|pass|pwd|auth))=[^&\s"']+/gi, `$1=${hidden}`)
  );
}
