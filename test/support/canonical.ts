/**
 * JSON text as values to be compared: a number from 2^53 on, one that is too large and -0 as `{ number }` with their digits, others as a
 * double. It reads the text itself, since JSON.parse would not see what the tests are about.
 */
export function readJson(text: string): unknown {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|-?\d[-+.\deE]*|true|false|null|[[\]{},:]/g) ?? [];
  let at = 0;
  const value = (): unknown => {
    const token = tokens[at++] as string;
    if (token === "{") {
      const members: [string, unknown][] = [];
      while (tokens[at] !== "}") {
        const name = JSON.parse(tokens[at++] as string) as string;
        at++;
        members.push([name, value()]);
        if (tokens[at] === ",") at++;
      }
      at++;
      return Object.fromEntries(members);
    }
    if (token === "[") {
      const elements: unknown[] = [];
      while (tokens[at] !== "]") {
        elements.push(value());
        if (tokens[at] === ",") at++;
      }
      at++;
      return elements;
    }
    return /^[-\d]/.test(token) ? number(token) : JSON.parse(token);
  };
  return value();
}

/** JSON text in one spelling: members by name, numbers as in readJson. */
export function canonical(text: string): string {
  return JSON.stringify(readJson(text), (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

function number(text: string): unknown {
  const double = Number(text);
  if (Math.abs(double) < 2 ** 53 && !Object.is(double, -0)) return double;
  const [, sign, whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)\.?(\d*)(?:[eE](.+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const end = digits.replace(/0+$/, "");
  return { number: `${sign}${end}e${digits === "" ? 0 : Number(exponent) - fraction.length + digits.length - end.length}` };
}
