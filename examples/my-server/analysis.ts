/** Summarises the numbers in a text. */
export function analyze(dataset: string): string {
  const numbers = dataset.match(/-?\d+(?:\.\d+)?/g)?.map(Number) ?? []
  if (numbers.length === 0) return 'no numbers'
  const sum = numbers.reduce((total, one) => total + one, 0)
  return `${numbers.length} numbers from ${Math.min(...numbers)} to ${Math.max(...numbers)}, mean ${sum / numbers.length}`
}
