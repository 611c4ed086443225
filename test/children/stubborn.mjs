// Stays when its stdin ends and when it is asked to go.
process.on('SIGTERM', () => process.stderr.write('no\n'))
process.stdin.on('data', (bytes) => {
  const { id } = JSON.parse(bytes.toString().split('\n')[0])
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { pid: process.pid } })}\n`)
})
setInterval(() => undefined, 1000)
