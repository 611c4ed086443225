// Writes so many megabytes to a stream as one line or as many, then answers.
import { writeSync } from 'node:fs'

const [stream, megabytes, shape] = process.argv.slice(2)
const fd = stream === 'stderr' ? 2 : 1
const block = Buffer.from(shape === 'line' ? 'x'.repeat(1 << 20) : `${'y'.repeat(127)}\n`.repeat(8192))

function write(bytes) {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(fd, bytes, at)
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
}

process.stdin.once('data', (bytes) => {
  const { id } = JSON.parse(bytes.toString().split('\n')[0])
  for (let count = 0; count < Number(megabytes); count++) write(block)
  if (shape === 'line') write(Buffer.from('\n'))
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { done: true } })}\n`)
})
process.stdin.on('end', () => process.exit(0))
