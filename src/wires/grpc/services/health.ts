import { create, toBinary } from "@bufbuild/protobuf";
import {
  HealthCheckRequestSchema,
  type HealthCheckResponse,
  HealthCheckResponseSchema,
  HealthListRequestSchema,
  HealthListResponseSchema,
  HealthCheckResponse_ServingStatus as Serving,
} from "../../../codec/gen/index.js";
import { type Cancel, Fault, reasonOf } from "../../../core/index.js";
import type { ServerCall } from "../../../io/index.js";
import { HEALTH } from "./options.js";
import { readOnly } from "./read.js";

/** `grpc.health.v1.Health` for the named services: they serve until the listener begins to close. */
export function healthService(names: readonly string[], closing: Cancel): (call: ServerCall) => Promise<void> {
  // The empty name stands for the whole server.
  const known: ReadonlySet<string> = new Set(["", ...names]);
  const now = (): HealthCheckResponse =>
    create(HealthCheckResponseSchema, { status: closing.fired ? Serving.NOT_SERVING : Serving.SERVING });

  const check = async (call: ServerCall): Promise<void> => {
    const { service } = await readOnly(HealthCheckRequestSchema, call);
    if (!known.has(service)) throw new Fault("not-found", `no service ${JSON.stringify(service)} here`);
    void call.send(toBinary(HealthCheckResponseSchema, now()));
    call.end({ code: 0 });
  };

  const list = async (call: ServerCall): Promise<void> => {
    await readOnly(HealthListRequestSchema, call);
    const statuses = Object.fromEntries([...known].map((name) => [name, now()]));
    void call.send(toBinary(HealthListResponseSchema, create(HealthListResponseSchema, { statuses })));
    call.end({ code: 0 });
  };

  /** Sends the state now, and again when it changes. A watch ends with the listener, so that it does not delay the drain. */
  const watch = async (call: ServerCall): Promise<void> => {
    const { service } = await readOnly(HealthCheckRequestSchema, call);
    const tell = (message: HealthCheckResponse): void => void call.send(toBinary(HealthCheckResponseSchema, message));
    tell(known.has(service) ? now() : create(HealthCheckResponseSchema, { status: Serving.SERVICE_UNKNOWN }));
    const told = closing.fired;
    const unhook: (() => void)[] = [];
    await new Promise<void>((resolve) => unhook.push(closing.on(resolve), call.cancel.on(resolve)));
    for (const off of unhook) off();
    if (call.cancel.fired) return;
    if (known.has(service) && !told) tell(now());
    throw reasonOf(closing);
  };

  const methods: ReadonlyMap<string, (call: ServerCall) => Promise<void>> = new Map([
    [`${HEALTH}Check`, check],
    [`${HEALTH}List`, list],
    [`${HEALTH}Watch`, watch],
  ]);
  return async (call) => {
    const method = methods.get(call.path);
    if (method === undefined) throw new Fault("unknown-method", `unknown method: ${call.path}`);
    await method(call);
  };
}
