import { guard, isObject, type Layer, type Request, type Service } from "../../core/index.js";

/** Types the server's tools for proto-mcp clients. The converter is loaded with the first such request. */
export function typedOnDemand(): Layer {
  return (inner) => {
    let loading: Promise<Service> | undefined;
    const load = async (): Promise<Service> => (await import("../../schema/index.js")).typedTools()(inner);
    return {
      notify: (notification, context) => inner.notify(notification, context),
      call(request, context) {
        if (!mayBeTyped(request)) return inner.call(request, context);
        return guard(async function* (within) {
          yield* (await (loading ??= load())).call(request, within);
          return undefined;
        }, context);
      },
    };
  };
}

/** Whether a request has what only proto-mcp clients send, as far as that is quick to check. */
function mayBeTyped({ method, params }: Request): boolean {
  if (method === "tools/call") return isObject(params["arguments"]) && "@type" in params["arguments"];
  const { _meta } = params;
  return method === "tools/list" && isObject(_meta) && Object.keys(_meta).some((key) => key.startsWith("buf.mcp.v1/"));
}
