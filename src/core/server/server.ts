import type { DescMessage } from "@bufbuild/protobuf";
import { withNumbers } from "../exact.js";
import { Fault, toFault } from "../fault.js";
import { type MessageTools, messageSupport, type TypedToolOptions, takesMessages } from "../message-tools.js";
import { askingMethods } from "../methods.js";
import { isKeptState, RELEASE } from "../parked.js";
import { failing } from "../replies.js";
import type { Message, Request } from "../service.js";
import { custom, methodAnswers, type Parts, unknownMethod } from "./answers.js";
import { ChangeListeners } from "./changes.js";
import type { CompleteAny } from "./completion.js";
import { type HandlerContext, Handling } from "./context.js";
import { Prompts } from "./prompts.js";
import { Resources } from "./resources.js";
import type { Schema } from "./standard.js";
import { type AnyToolHandler, type ToolHandler, type ToolOptions, Tools } from "./tools.js";
import type { NotificationHandler, Server, ServerOptions } from "./types.js";
import { log } from "./yields.js";

type AnyToolOptions = ToolOptions<Schema, Schema> | TypedToolOptions<DescMessage, DescMessage>;

/** Makes a server to register handlers on. It is a Service: a wire listens with it, a layer wraps it, a test calls it. */
export function createServer(options: ServerOptions): Server {
  if (typeof options?.name !== "string" || typeof options.version !== "string")
    throw new Fault("invalid-params", 'createServer needs { name, version }, such as createServer({ name: "example", version: "1.0.0" })');
  const { tell, onFault } = faultListeners();
  const { notify, onNotification } = notificationHandlers(tell);
  const completions: CompleteAny[] = [];
  const report = (error: unknown): void => {
    if (!(error instanceof Fault)) tell(toFault(error));
  };
  const changes = new ChangeListeners();
  const tools = new Tools(report);
  const resources = new Resources(report);
  const prompts = new Prompts(report);
  const parts: Parts = { options, tools, resources, prompts, completions, changes, report };
  const methods = methodAnswers(parts);
  let typed: MessageTools | undefined;

  const chained =
    <Given extends readonly unknown[]>(add: (...given: Given) => void) =>
    (...given: Given): Server => {
      add(...given);
      return server;
    };
  const server: Server = {
    call: (given, context) => {
      let request: Request;
      try {
        request = withNumbers(given, "");
      } catch (error) {
        return failing(toFault(error));
      }
      // An edge made this state for a call that it keeps. If it comes this far, no edge has kept the call.
      if (isKeptState(request.params["requestState"]) && askingMethods.has(request.method))
        return failing(new Fault("invalid-params", "the requestState is not valid: its call has ended or expired"));
      const answer = methods.get(request.method);
      if (answer === undefined) return failing(unknownMethod(request.method));
      if (typed !== undefined && request.method === "tools/list") return typed.list(request, context, (within) => answer(request, within));
      return answer(request, context);
    },
    notify,
    tool: (name: string, given: AnyToolOptions | ToolHandler, handler?: AnyToolHandler) => {
      if (typeof given === "function") tools.add(name, {}, given);
      else if (takesMessages(given)) {
        const support = messageSupport();
        if (support instanceof Fault) throw support;
        typed ??= support.tools();
        const made = typed.convert(name, given, handler);
        tools.add(name, made.options, made.handler, true);
      } else tools.add(name, given, handler);
      return server;
    },
    tools: chained((catalogue) => tools.addCatalogue(catalogue)),
    resource: chained((resource, read) => resources.add(resource, read)),
    resourceTemplate: chained((template, read) => resources.addTemplate(template, read)),
    resources: chained((catalogue) => resources.addCatalogue(catalogue)),
    prompt: (name, promptOptions, handler) => {
      prompts.add(name, promptOptions, handler);
      return server;
    },
    prompts: chained((catalogue) => prompts.addCatalogue(catalogue)),
    completion: chained((complete) => completions.push(complete)),
    method: (name, handler) => {
      if (methods.has(name)) throw new Fault("invalid-params", `the method ${name} already has a handler`);
      methods.set(name, custom(handler, report));
      return server;
    },
    onNotification,
    onFault,
    changed: (feature) => changes.changed(feature),
    updated: (uri) => changes.updated(uri),
    log: (level, data, logger) => changes.log(log(level, data, logger)),
    get droppedLogs(): number {
      return changes.dropped;
    },
    close: () => changes.close(),
  };
  return server;
}

/** Those who want to know what goes wrong in handlers. */
function faultListeners(): Pick<Server, "onFault"> & { tell(fault: Fault): void } {
  const listeners = new Set<(fault: Fault) => void>();
  return {
    onFault(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell(fault) {
      for (const listener of listeners) {
        try {
          listener(fault);
        } catch (error) {
          // A listener that throws must not change the answer to a call.
          queueMicrotask(() => {
            throw error;
          });
        }
      }
    },
  };
}

/** The handlers of notifications, by method. */
function notificationHandlers(tell: (fault: Fault) => void): Pick<Server, "notify" | "onNotification"> {
  const byMethod = new Map<string, Set<NotificationHandler>>();
  const hear = async (handler: NotificationHandler, notification: Message, ctx: HandlerContext): Promise<void> => {
    try {
      await handler(notification, ctx);
    } catch (error) {
      // A notification gets no answer, so even a Fault is only reported.
      tell(toFault(error));
    }
  };
  return {
    notify(given, context) {
      // Only edges use this notification, and the server is behind the last of them.
      if (given.method === RELEASE) return Promise.resolve();
      let notification: Message;
      try {
        notification = withNumbers(given, "");
      } catch (error) {
        tell(toFault(error));
        return Promise.resolve();
      }
      const ctx = new Handling(context, notification);
      for (const key of [notification.method, "*"]) {
        for (const handler of byMethod.get(key) ?? []) void hear(handler, notification, ctx);
      }
      return Promise.resolve();
    },
    onNotification(method, handler) {
      const handlers = byMethod.get(method) ?? new Set();
      byMethod.set(method, handlers.add(handler));
      return () => void handlers.delete(handler);
    },
  };
}
