// A child whose standard streams are the two directions of a connection to the port of its argument: whoever listens there is the child.
import { connect } from "node:net";

const socket = connect(Number(process.argv[2]), "127.0.0.1");
process.stdin.pipe(socket).pipe(process.stdout);
socket.on("error", () => process.exit(0));
socket.on("close", () => process.exit(0));
