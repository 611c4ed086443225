import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

/**
 * The server program that clients start over stdio. It decides nothing: it passes its input, signals and output on, one JSON object in each
 * line. Clients need a file to start, and the files of this package may be one bundle, so it is written to a temporary folder.
 */
const PROGRAM = `import { connect } from 'node:net'
import { createInterface } from 'node:readline'
const socket = connect(process.argv[2])
const say = (message) => socket.write(JSON.stringify(message) + '\\n')
process.stdin.on('data', (data) => say({ in: data.toString('base64') }))
process.stdin.on('end', () => say({ event: 'end' }))
process.stdout.on('error', () => undefined)
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => say({ event: signal }))
socket.on('error', () => process.exit(1))
socket.on('close', () => process.exit(1))
createInterface({ input: socket }).on('error', () => process.exit(1)).on('line', (line) => {
  const { out, err, exit } = JSON.parse(line)
  if (out !== undefined) process.stdout.write(out)
  if (err !== undefined) process.stderr.write(err)
  if (exit !== undefined) process.exit(exit)
})
`

let folder: Promise<string> | undefined
let count = 0

/** A new command for clients, and the path of the socket that its program connects to. */
export async function bridge(): Promise<{ readonly command: readonly string[]; readonly path: string }> {
  folder ??= writeProgram()
  const place = await folder
  const name = `${process.pid}-${++count}`
  const path =
    process.platform === 'win32' ? `\\\\.\\pipe\\pierhead-validate-${name}` : join(place, `${name}.sock`)
  return { command: [process.execPath, join(place, 'server.mjs'), path], path }
}

async function writeProgram(): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), 'pierhead-validate-'))
  await writeFile(join(place, 'server.mjs'), PROGRAM)
  return place
}

/** Removes the temporary folder, if there is one. */
export async function removeBridge(): Promise<void> {
  const place = await folder?.catch(() => undefined)
  folder = undefined
  if (place !== undefined) await rm(place, { recursive: true, force: true })
}
