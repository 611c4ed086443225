/** A connection may be idle while another server is measured. */
export const serverOptions = { keepAliveTimeout: 60_000 }

/** Reports the ports of a subject to the bench, and its memory use whenever a line arrives on its input. */
export function announce(...ports) {
  process.stdout.write(`${JSON.stringify({ ports })}\n`)
  process.stdin.on('data', () => {
    for (let turn = 0; turn < 3; turn++) globalThis.gc?.()
    const { heapUsed, external, rss } = process.memoryUsage()
    process.stdout.write(`${JSON.stringify({ heap: heapUsed + external, rss })}\n`)
  })
  process.stdin.on('end', () => process.exit(0))
}
