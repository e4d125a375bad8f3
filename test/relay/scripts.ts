import type { Eras } from "./chain.js";
import { during } from "./said/during.js";
import { errors } from "./said/errors.js";
import { methods } from "./said/methods.js";
import { legacyWords, session, unasked } from "./said/session.js";
import { stateless } from "./said/stateless.js";
import { values } from "./said/values.js";
import type { Script } from "./script.js";

/** What is said by a client of one era to a server of one. */
export function scripts({ client, server }: Eras): readonly Script[] {
  const common = [...methods(server), ...values(server), ...errors(), ...during(client, server)];
  if (client !== server) return [...common, ...(client === "legacy" ? legacyWords() : [unasked])];
  return [...common, ...(client === "legacy" ? session() : stateless())];
}
