import { describe, expect, it } from "vitest";
import { Fault } from "./fault.js";
import { uriTemplate } from "./uri-template.js";

function match(template: string, uri: string): Record<string, unknown> | undefined {
  const found = uriTemplate(template).match(uri);
  return found === undefined ? undefined : { ...found };
}

describe("uriTemplate", () => {
  it.each([
    ["test://template/{id}/data", "test://template/42/data", { id: "42" }],
    ["a://{x}", "a://caf%C3%A9%2Fbar", { x: "café/bar" }],
    ["a://{x},{y}", "a://1,2", { x: "1", y: "2" }],
    ["a://{x,y}", "a://1,2", { x: "1", y: "2" }],
    ["a://{x,y}", "a://1", { x: "1" }],
    ["file:///{+path}", "file:///etc/hosts?x#y", { path: "etc/hosts?x#y" }],
    ["a://{+dir}/last/{name}", "a://p/last/q/last/r", { dir: "p/last/q", name: "r" }],
    ["a://h{/x}", "a://h/one", { x: "one" }],
    ["a://h{/x,y}", "a://h/one/two", { x: "one", y: "two" }],
    ["a://h{/x}", "a://h", {}],
    ["a://h{/x*}", "a://h/one/t%2Fwo", { x: ["one", "t/wo"] }],
    ["a://{x*}", "a://1,2,3", { x: ["1", "2", "3"] }],
    ["a://h{?a,b}", "a://h?b=2&a=1", { a: "1", b: "2" }],
    ["a://h{?a,b}", "a://h?a=", { a: "" }],
    ["a://h{?a,b}", "a://h", {}],
    ["a://h{?a*}", "a://h?a=1&a=2", { a: ["1", "2"] }],
    ["a://h?fixed=1{&x}", "a://h?fixed=1&x=2", { x: "2" }],
    ["a://h{#f}", "a://h#x/y", { f: "x/y" }],
    ["a://h{.ext}", "a://h.json", { ext: "json" }],
    ["a://h{;p}", "a://h;p=1", { p: "1" }],
    ["a://plain", "a://plain", {}],
  ])("%s reads %s", (template, uri, values) => {
    expect(match(template, uri)).toEqual(values);
  });

  it.each([
    ["a://{x}", "a://"],
    ["a://{x}", "a://one/two"],
    ["a://{x}", "a://%E0%A4%A"],
    ["a://{x}/end", "a://1/end/"],
    ["a://h{?a}", "a://h?c=1"],
    ["a://h{?a}", "a://h?a=1&a=2"],
    ["a://plain", "a://plain/"],
    ["a://{x}", `a://${"y".repeat(70_000)}`],
  ])("%s does not read %s", (template, uri) => {
    expect(match(template, uri)).toBeUndefined();
  });

  it("keeps hostile names as names", () => {
    const found = uriTemplate("a://{__proto__}/{constructor}").match("a://x/y");
    expect(Object.entries(found ?? {})).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it.each(["a://{", "a://}", "a://{}", "a://{x y}", "a://{x}{x}"])("refuses %s", (template) => {
    expect(() => uriTemplate(template)).toThrow(Fault);
  });

  it("takes linear time on what makes backtracking explode", () => {
    const template = uriTemplate(`a://${"{+a}x".replace("a", "v0")}${Array.from({ length: 30 }, (_, i) => `{+v${i + 1}}x`).join("")}end`);
    const started = performance.now();
    expect(template.match(`a://${"x".repeat(20_000)}`)).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
