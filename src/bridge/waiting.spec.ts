import { expect, it } from "vitest";
import { type Fault, type Lease, neverCancelled } from "../core/index.js";
import { Waiting } from "./waiting.js";

it("lets one owner have half of the places, and gives them back", async () => {
  const waiting = new Waiting(60_000, 8);
  const opened: ((lease: Lease) => void)[] = [];
  const wait = (owner: string): Promise<Lease> =>
    waiting.lease(owner, neverCancelled, () => new Promise((resolve) => opened.push(resolve)));
  const refused = (leasing: Promise<Lease>): Promise<Fault> =>
    leasing.then(
      () => Promise.reject(new Error("it was not refused")),
      (fault: Fault) => fault,
    );
  const many = Array.from({ length: 4 }, () => wait("ada"));
  expect(await refused(wait("ada"))).toMatchObject({ code: "overload", data: { limit: "inFlight", max: 4 } });
  const others = [...Array.from({ length: 3 }, () => wait("bob")), wait("eve")];
  expect(await refused(wait("eve"))).toMatchObject({ code: "overload", data: { limit: "inFlight", max: 8 } });
  for (const open of opened.splice(0)) open({ release: () => {} } as Lease);
  await Promise.all([...many, ...others]);
  const again = wait("ada");
  opened[0]?.({ release: () => {} } as Lease);
  await again;
});
