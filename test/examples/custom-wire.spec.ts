import { MessageChannel } from "node:worker_threads";
import { connect, serve } from "anywire";
import { contractService } from "anywire/contract";
import { portWire } from "../../examples/custom-wire/message-port.js";
import { keepsContract, pairs } from "../contract/pairs.js";

for (const { name, era, eras } of pairs) {
  keepsContract(`a wire from outside the package: ${name}`, {
    async open(options) {
      const { port1, port2 } = new MessageChannel();
      await serve(contractService(), "port:", { wires: [portWire(port1)], eras });
      return connect("port:", { ...options, wires: [portWire(port2)], era });
    },
  });
}
