/** Rows in aligned columns; the last column is as wide as it needs to be. Cells must be safe already and without colours. */
export function tableText(rows: readonly (readonly string[])[], gap: string = '  '): string {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length)
    })
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join(gap)
      .trimEnd()
  return rows.map(line).join('\n')
}
