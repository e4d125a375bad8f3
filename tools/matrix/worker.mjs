// Runs one cell of the matrix after another, as it is told: each message is a cell's id, each answer what went wrong.
import { load } from "./load.mjs";

const { cells } = await load("/test/matrix/cells.ts");
process.on("unhandledRejection", (error) => process.send({ stray: String(error?.stack ?? error) }));
process.on("disconnect", () => process.exit(0));
process.on("message", async (id) => {
  const began = Date.now();
  const wrong = await cells
    .find((cell) => cell.id === id)
    .run()
    .catch((error) => [String(error?.stack ?? error)]);
  process.send({ id, wrong, ms: Date.now() - began });
});
process.send({ cells: cells.map(({ id, table, row, column, ends }) => ({ id, table, row, column, ends })) });
