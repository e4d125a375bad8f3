import type { Era } from "../raw/types.js";
import type { Script } from "../script.js";

/** Values that careless code changes, each under a name that says what it is. */
export const odd =
  '"z":1,"a":{"nested":[],"empty":{},"nil":null},"list":[null,[],{},"",0,false,[[]]],"text":"é😀\\u2028\\u0000\\ufeff","half":"\\ud800x","__proto__":{"x":1},"constructor":null,"":"no name"';
export const integerNames = '"b":1,"10":"ten","a":{"z":0,"2":"two","1":"one"}';
export const numbers =
  '"big":12345678901234567890,"negative":-9007199254740993,"huge":1e400,"-huge":-1e400,"zero":-0,"zeros":[-0,-0.0],"deep":{"in":[{"big":9007199254740993}]}';
export const spellings = '"one":1.0,"exp":1E5,"plus":1e+2,"tiny":1e-7,"long":0.12345678901234567890,"under":1e-400';
export const content = `"content":[{"type":"text","text":"é","annotations":{"audience":["user","assistant"],"priority":0.5,"lastModified":"2026-01-01T00:00:00Z","x":1},"_meta":{"k":null},"x-c":{}},{"type":"image","data":"AAEC","mimeType":"image/png"},{"type":"audio","data":"AAEC","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"test://a","mimeType":"text/plain","text":"t","_meta":{"m":1},"x-r":[]}},{"type":"resource","resource":{"uri":"test://b","blob":"AAEC"}},{"type":"resource_link","uri":"test://c","name":"c","title":"C","size":3,"icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}]},{"type":"x-vendor","what":{"ever":[1]}}]`;
export const icons = '"icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["48x48","any"],"theme":"light","x":1}]';
export const meta =
  '"com.example/key":{"b":1,"a":[null]},"plain":"p","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=1","baggage":"k=v"';

type Call = Omit<Extract<Script, { kind: "call" }>, "kind" | "name"> & { readonly name?: string };

export function call(one: Call): Script {
  return { kind: "call", name: one.method, ...one };
}

/** What a result of the era has to say beside its own members. */
export function complete(era: Era, cached = false): string {
  return era === "legacy" ? "" : `"resultType":"complete",${cached ? '"ttlMs":1000,"cacheScope":"public",' : ""}`;
}
