/**
 * JSON text in one spelling: members by name, no white space, strings as JSON.stringify has them. Numbers from 2^53 on, too large ones and
 * -0 by their digits, others as a double. It reads the text itself, since JSON.parse would not see what the tests are about.
 */
export function canonical(text: string): string {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|-?\d[-+.\deE]*|true|false|null|[[\]{},:]/g) ?? [];
  let at = 0;
  const value = (): string => {
    const token = tokens[at++] as string;
    if (token === "{") {
      const members = new Map<string, string>();
      while (tokens[at] !== "}") {
        const name = JSON.stringify(JSON.parse(tokens[at++] as string));
        at++;
        members.set(name, value());
        if (tokens[at] === ",") at++;
      }
      at++;
      return `{${[...members]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, member]) => `${name}:${member}`)
        .join(",")}}`;
    }
    if (token === "[") {
      const elements: string[] = [];
      while (tokens[at] !== "]") {
        elements.push(value());
        if (tokens[at] === ",") at++;
      }
      at++;
      return `[${elements.join(",")}]`;
    }
    if (token.startsWith('"')) return JSON.stringify(JSON.parse(token));
    return /^[-\d]/.test(token) ? number(token) : token;
  };
  return value();
}

function number(text: string): string {
  const double = Number(text);
  if (Math.abs(double) < 2 ** 53 && !Object.is(double, -0)) return String(double);
  const [, sign, whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)\.?(\d*)(?:[eE](.+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const end = digits.replace(/0+$/, "");
  return `${sign}${end}e${digits === "" ? 0 : Number(exponent) - fraction.length + digits.length - end.length}`;
}
