// A server whose requests say how it should behave. Anything else is answered with what was asked.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const facts = () => ({ argv: process.argv.slice(2), env: process.env, cwd: process.cwd(), pid: process.pid })

const behaviours = {
  facts: (id) => write({ id, result: facts() }),
  silence: () => undefined,
  exit: (_, { code }) => process.exit(code),
  die: () => process.kill(process.pid, 'SIGKILL'),
  complain: (id, { text }) => process.stderr.write(text, () => write({ id, result: {} })),
  raw: (_, { text }) => process.stdout.write(text),
  bytes: (_, { hex }) => process.stdout.write(Buffer.from(hex, 'hex')),
  huge: (id, { size }) => {
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"text":"`)
    process.stdout.write('x'.repeat(size))
    process.stdout.write('"}}\n')
  },
  background: (id) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
    child.once('spawn', () => write({ id, result: { pid: child.pid } }))
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (behaviours[method] !== undefined) behaviours[method](id, params)
  else if (id !== undefined) write({ id, result: { method, params } })
})
