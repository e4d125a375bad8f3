import { afterEach, describe, expect, it, vi } from "vitest";
import { Fault } from "../../../src/core/index.js";
import { type Channel, type ClientCall, grpcChannel, type ServerCall } from "../../../src/io/index.js";
import { collect, echo, type Handle, hang, type Served, serve } from "./support.js";

let served: Served | undefined;
let channel: Channel | undefined;
afterEach(async () => {
  await channel?.close();
  await served?.close();
});

async function start(handle: Handle): Promise<Channel> {
  served = await serve(handle);
  channel = grpcChannel([{ host: "127.0.0.1", port: served.port }]);
  return channel;
}

describe("how calls end", () => {
  it("a cancelled call does not look complete to the server", async () => {
    const heard: string[] = [];
    const read = async (call: ServerCall): Promise<void> => {
      call.begin();
      call.cancel.on(() => heard.push(`cancel ${call.cancel.reason?.code}`));
      try {
        for await (const batch of call.messages) heard.push(`${batch.length}`);
        heard.push("end");
      } catch (error) {
        heard.push(`threw ${(error as Fault).code}`);
        throw error;
      }
    };
    const call = (await start(read)).call("/t.T/M");
    call.send(Buffer.from("m"));
    await vi.waitFor(() => expect(heard).toEqual(["1"]));
    call.cancel();
    await vi.waitFor(() => expect(heard).toEqual(["1", "cancel cancelled", "threw cancelled"]));
    expect(await call.status).toMatchObject({ code: 1 });
  });

  it("leaving the messages cancels the call, and the reason of a cancellation is what the reader gets", async () => {
    let cancelled = 0;
    const many = (call: ServerCall): void => {
      call.cancel.on(() => cancelled++);
      call.send(Buffer.from("one"));
    };
    const dialled = await start(many);
    for await (const batch of dialled.call("/t.T/M").messages) {
      expect(batch.map(String)).toEqual(["one"]);
      break;
    }
    await vi.waitFor(() => expect(cancelled).toBe(1));
    const call = dialled.call("/t.T/M");
    const reason = new Fault("overload", "enough");
    const reader = collect(call);
    call.cancel(reason);
    expect((await reader).fault).toBe(reason);
    expect(await call.status).toMatchObject({ code: 8, message: "enough" });
  });

  it("a deadline ends the call on both sides, also when the client does not read", async () => {
    const heard: (string | undefined)[] = [];
    const flood = async (call: ServerCall): Promise<void> => {
      call.cancel.on(() => heard.push(call.cancel.reason?.code));
      for (;;) await call.send(new Uint8Array(64 * 1024));
    };
    const dialled = await start(flood);
    const call = dialled.call("/t.T/M", { deadline: Date.now() + 300 });
    call.done();
    expect((await call.status).code).toBe(4);
    await vi.waitFor(() => expect(heard.length).toBe(1));
    expect(["deadline", "cancelled"]).toContain(heard[0]);
  });

  it("the server alone ends a call at the deadline", async () => {
    const heard: (string | undefined)[] = [];
    served = await serve((call) => {
      call.cancel.on(() => heard.push(call.cancel.reason?.code));
      call.begin();
    });
    const { post } = await import("./support.js");
    expect(await post(served.port, [], { "grpc-timeout": "50m" })).toMatchObject({ grpcStatus: 4 });
    expect(heard).toEqual(["deadline"]);
  });

  it("a handler that throws, at once or later, ends with its fault's status", async () => {
    const dialled = await start((call) => {
      if (call.path === "/now") throw new Fault("denied", "not you");
      return Promise.reject(new Error("oops"));
    });
    const ended = (path: string): Promise<unknown> => {
      const call: ClientCall = dialled.call(path);
      call.done();
      return call.status;
    };
    expect(await ended("/now")).toMatchObject({ code: 7, message: "not you" });
    expect(await ended("/later")).toMatchObject({ code: 13, message: "oops" });
  });

  it("a status that comes while the client still sends is not lost behind the reset", async () => {
    const dialled = await start(async (call) => {
      if (call.path === "/later") for await (const _ of call.messages) break;
      if (call.path === "/later") call.send(Buffer.from("got"));
      call.end({ code: 9, message: "early" });
    });
    for (let round = 0; round < 50; round++) {
      for (const [path, messages] of [
        ["/now", []],
        ["/later", ["got"]],
      ] as const) {
        const call = dialled.call(path);
        for (let at = 0; at < 20; at++) void call.send(new Uint8Array(100_000));
        expect((await collect(call)).messages.map(String)).toEqual(messages);
        expect(await call.status).toMatchObject({ code: 9, message: "early" });
      }
    }
  });

  it("trailers that cannot be sent do not leave the call open", async () => {
    const call = (await start((incoming) => incoming.end({ code: 0, metadata: { "x-a": "\r\n" } }))).call("/t.T/M");
    call.done();
    expect((await call.status).code).toBe(13);
  });

  it("the status does not wait for a reader that has enough", async () => {
    const dialled = await start(async (call) => {
      for (let at = 0; at < 32; at++) await call.send(new Uint8Array(64 * 1024));
      call.end({ code: 0 });
    });
    const call = dialled.call("/t.T/M");
    call.done();
    expect((await call.status).code).toBe(0);
    expect((await collect(call)).messages.length).toBe(32);
  });

  it("a lost connection does not take away what had come", async () => {
    const dialled = await start((call) => void call.send(Buffer.from("came")));
    const call = dialled.call("/t.T/M");
    await call.headers;
    // The message is there, and nobody has read it yet.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await served?.close();
    await call.status;
    const { messages, fault } = await collect(call);
    expect(messages.map(String)).toEqual(["came"]);
    expect(fault).toMatchObject({ code: "unavailable" });
  });

  it("the messages come once, to one reader", async () => {
    const call = (await start(hang)).call("/t.T/M");
    const messages = call.messages[Symbol.asyncIterator]();
    const first = messages.next();
    await expect(messages.next()).rejects.toMatchObject({ message: "the messages of a call have one reader" });
    call.cancel();
    await expect(first).rejects.toMatchObject({ code: "cancelled" });
    expect(await messages.next()).toEqual({ done: true, value: undefined });
  });

  it("a call that has ended takes no messages, and says so without an unhandled rejection", async () => {
    const call = (await start(echo)).call("/t.T/M");
    call.done();
    expect((await collect(call)).fault).toBeUndefined();
    void call.send(Buffer.from("late"));
    await expect(call.send(Buffer.from("late"))).rejects.toBeInstanceOf(Fault);
  });

  it("races of cancel, deadline and answer leave nothing behind", async () => {
    let open = 0;
    const dialled = await start((call) => {
      open++;
      call.cancel.on(() => open--);
      setImmediate(() => {
        if (call.cancel.fired) return;
        open--;
        call.end({ code: 0 });
      });
    });
    let ended = 0;
    for (let round = 0; round < 20; round++) {
      const calls = Array.from({ length: 40 }, (_, at) => {
        const call = dialled.call("/t.T/M", at % 3 === 0 ? { deadline: Date.now() + 3 } : {});
        call.done();
        if (at % 3 === 1) setTimeout(() => call.cancel(), at % 5);
        return call;
      });
      ended += (await Promise.all(calls.map(({ status }) => status))).length;
    }
    expect(ended).toBe(800);
    await vi.waitFor(() => expect(open).toBe(0));
  });
});
