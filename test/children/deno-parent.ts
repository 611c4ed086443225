import process from 'node:process'
import { open } from './open.ts'

const [way, server] = process.argv.slice(2) as [string, string]

if (way === 'throw-listened')
  addEventListener('error', (event) => {
    event.preventDefault()
    void count()
  })

const children = await Promise.all([
  open({ command: 'node', args: [server] }),
  open({ command: 'node', args: [server] }),
])
const ask = (): Promise<unknown[]> =>
  Promise.all(children.map(async ({ result }) => (await result('facts'))['pid']))

/** Ends the process with the number of programs that still answer. */
async function count(): Promise<void> {
  process.exit((await ask()).length)
}

process.stdout.write(JSON.stringify(await ask()))
if (way === 'throw-handled') process.on('uncaughtException', () => void count())
if (way === 'reject-handled') process.on('unhandledRejection', () => void count())
process.stdin.once('data', () => {
  const error = new Error('nobody catches this')
  if (way.startsWith('reject')) return void Promise.reject(error)
  // What a listener of a stream throws is a rejection in Deno.
  setTimeout(() => {
    throw error
  })
})
