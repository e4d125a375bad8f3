/** The results as text: a table of rows and columns for each group of cells. */
export function tables(cells, results) {
  const names = [...new Set(cells.map(({ table }) => table))];
  return names
    .map((name) =>
      tableOf(
        name,
        cells.filter(({ table }) => table === name),
        results,
      ),
    )
    .join("");
}

const marks = { true: "ok", false: "FAILED", undefined: "-" };

function tableOf(name, cells, results) {
  const columns = [...new Set(cells.map(({ column }) => column))];
  const rows = [...new Set(cells.map(({ row }) => row))];
  const mark = (row, column) => {
    const found = cells.find((cell) => cell.row === row && cell.column === column);
    return found === undefined ? "" : marks[String(results[found.id]?.ok)];
  };
  const wide = Math.max(...rows.map(({ length }) => length)) + 2;
  const line = (first, others) =>
    `${first.padEnd(wide)}${others.map((text, at) => text.padEnd(Math.max(columns[at].length, 6) + 2)).join("")}`.trimEnd();
  const body = rows.map((row) =>
    line(
      row,
      columns.map((column) => mark(row, column)),
    ),
  );
  return `\n${name}\n${[line("", columns), ...body].join("\n")}\n`;
}
