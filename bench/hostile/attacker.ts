/** An attacker in a process of its own. Arguments: the number of the attack, a port, connections. It goes on until it is ended. */
import { attacks } from "./attacks.js";

const [number, port, connections] = process.argv.slice(2).map(Number) as [number, number, number];
const attack = attacks[number];
// Many connections together do three times what one does: their number is the attack then, and not the attacker's own speed.
const share = Math.min(1, 3 / connections);
for (let at = 0; at < connections; at++) attack?.run(port, share).catch(() => {});
setInterval(() => {}, 60_000);
process.once("disconnect", () => process.exit());
