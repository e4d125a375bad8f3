import { describe, expect, it } from "vitest";
import { ACK, DATA, END_HEADERS, END_STREAM, frame, HEADERS, SETTINGS, settings } from "../../../src/io/http2/frames.js";
import { hello, Line, listen, open, request, turn } from "./line.js";

describe("the end of a session", () => {
  it("closes when what waited has been served", async () => {
    const { session, say, log, line } = open();
    say(settings([[3, 1]]));
    session.request(request, listen("a", log)).end();
    session.request(request, listen("b", log)).end();
    session.close();
    session.close();
    expect(() => session.request(request, listen("c", log))).toThrow(/no more calls/);
    for (const id of [1, 3]) {
      await turn();
      say(frame(HEADERS, END_HEADERS | END_STREAM, id, Buffer.of(0x88)));
    }
    await turn();
    expect(line.writableEnded).toBe(true);
    expect(line.frames().filter(({ type }) => type === 7).length).toBe(1);
    line.push(null);
    await turn();
    expect(log).toEqual(["ready", "a 200", "a end", "a close 0", "b 200", "b end", "b close 0", "lost", "close"]);
  });

  it("closes when the last that waited has left", async () => {
    const { session, say, line } = open();
    say(settings([[3, 0]]));
    const stream = session.request(request, listen("a", []));
    session.close();
    stream.destroy();
    await turn();
    expect(line.writableEnded).toBe(true);
    session.destroy();
  });

  it("comes when the numbers are used up: what waits goes elsewhere, what is open is served", async () => {
    const { session, say, log, line } = open();
    say(settings([[3, 2]]));
    (session as unknown as { nextId: number }).nextId = 2 ** 31 - 3;
    for (const name of "ab") session.request(request, listen(name, log)).end();
    expect(log).toEqual(["ready", "goaway 0"]);
    expect(session.closed).toBe(true);
    for (const id of [2 ** 31 - 1, 2 ** 31 - 3]) {
      await turn();
      say(frame(HEADERS, END_HEADERS | END_STREAM, id, Buffer.of(0x88)));
    }
    await turn();
    expect(log.slice(2)).toEqual(["b 200", "b end", "b close 0", "a 200", "a end", "a close 0"]);
    expect(line.writableEnded).toBe(true);
    session.destroy();

    const other = open();
    other.say(settings([[3, 1]]));
    (other.session as unknown as { nextId: number }).nextId = 2 ** 31 - 3;
    const streams = [..."abc"].map((name) => other.session.request(request, listen(name, other.log)));
    streams[0]?.destroy();
    // The place of a stream that was reset is free when the server has read the settings that were sent then.
    for (const _ of ["first", "then"]) other.say(frame(SETTINGS, ACK, 0, undefined));
    expect(other.log).toEqual(["ready", "a close 8", "goaway 0", "c close 7"]);
    other.session.destroy();
  });

  it("tells of the loss before its streams close, and of an error once", async () => {
    const { session, log, line } = open();
    const events = listen("a", log);
    let thrown: unknown;
    session.request(request, {
      ...events,
      onClose: (code, error, passed) => {
        events.onClose(code, error, passed);
        try {
          session.request(request, events);
        } catch (caught) {
          thrown = caught;
        }
        session.destroy(new Error("again"));
      },
    });
    session.ping((error) => log.push(`ping ${error?.message}`));
    line.destroy(new Error("cut"));
    await turn();
    expect(log).toEqual(["lost cut", "a close 0 cut", "ping cut", "close"]);
    expect(thrown).toMatchObject({ code: "unavailable" });
  });

  it("comes for a socket that was closed or at its end before", async () => {
    const closed = new Line();
    closed.on("error", () => {});
    closed.destroy(new Error("before"));
    await turn();
    const first = open(closed);
    await turn();
    expect(first.log).toEqual(["lost before", "close"]);
    const ended = new Line({ autoDestroy: false });
    ended.push(null);
    ended.resume();
    await turn();
    const second = open(ended);
    await turn();
    expect(second.log).toEqual(["lost the server closed the connection", "close"]);
  });

  it("is quiet about what comes after it", async () => {
    const { session, say, log, line } = open();
    session.request(request, {
      ...listen("a", log),
      onResponse: () => session.destroy(),
    });
    say(
      hello,
      frame(HEADERS, END_HEADERS, 1, Buffer.of(0x88)),
      frame(DATA, 0, 1, Buffer.from("x")),
      frame(SETTINGS, ACK, 0, undefined),
      Buffer.alloc(50, 255),
    );
    say(Buffer.alloc(50, 255));
    line.emit("error", new Error("late"));
    await turn();
    expect(log).toEqual(["ready", "lost", "a close 0 the connection was closed", "close"]);
  });
});
