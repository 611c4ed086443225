import { open } from './open.ts'

const [way, server] = process.argv.slice(2) as [string, string]

if (way === 'handled') process.on('SIGTERM', () => setTimeout(() => process.exit(5), 50))
if (way === 'looked-at') lookAt('SIGTERM')

const children = await Promise.all([open({ args: [server] }), open({ args: [server] })])
const pids = await Promise.all(children.map(async ({ result }) => (await result('facts'))['pid']))
process.stdout.write(JSON.stringify(pids))
process.stdin.once('data', () => {
  if (way === 'exit') process.exit()
  if (way === 'throw') throw new Error('nobody catches this')
})

/** Listens as the package signal-exit does: acts only when all listeners are of its kind. */
function lookAt(signal: NodeJS.Signals): void {
  const emitter = { count: 1 }
  Object.defineProperty(globalThis, Symbol.for('signal-exit emitter'), { value: emitter })
  process.on(signal, function listener() {
    if (process.listenerCount(signal) !== emitter.count) return
    process.off(signal, listener)
    process.kill(process.pid, signal)
  })
}
