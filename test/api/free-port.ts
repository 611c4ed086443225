import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { onTestFinished } from 'vitest'

/** Lets a program that asks for port 3000 have a free one, and say on stderr which. */
const FREE_PORT = `import net from 'node:net'
const { listen } = net.Server.prototype
net.Server.prototype.listen = function (address, ready) {
  if (address?.port !== 3000) return listen.apply(this, arguments)
  return listen.call(this, { ...address, port: 0 }, () => {
    ready()
    console.error('asked for 3000, got ' + this.address().port)
  })
}`

/** Starts a program that listens at port 3000, at a free port instead. It ends with the test. */
export async function startOnFreePort(
  program: string,
): Promise<{ readonly child: ChildProcessWithoutNullStreams; readonly port: string }> {
  const free = `data:text/javascript,${encodeURIComponent(FREE_PORT)}`
  const flags = ['--import', 'tsx', '--conditions=pierhead-source', '--import', free]
  const child = spawn(process.execPath, [...flags, program])
  onTestFinished(() => void child.kill())
  const port = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.on('exit', () => reject(new Error(`${program} ended: ${said}`)))
    child.stderr.on('data', (chunk: Buffer) => {
      said += String(chunk)
      const [, given] = /got (\d+)\n/.exec(said) ?? []
      if (given !== undefined) resolve(given)
    })
  })
  return { child, port }
}
