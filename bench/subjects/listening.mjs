/** Tells the bench where an HTTP subject listens, and measures its heap whenever a line arrives on its input. */
export function announce(port) {
  process.stdout.write(`${JSON.stringify({ port })}\n`)
  process.stdin.on('data', () => {
    for (let turn = 0; turn < 3; turn++) globalThis.gc?.()
    const { heapUsed, external, rss } = process.memoryUsage()
    process.stdout.write(`${JSON.stringify({ heap: heapUsed + external, rss })}\n`)
  })
  process.stdin.on('end', () => process.exit(0))
}
