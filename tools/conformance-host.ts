import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { App } from 'pierhead'
import { connect } from 'pierhead/client'
import { createHarbour } from '../examples/demo/harbour.ts'
import { launch } from '../src/cli/launch.ts'
import type { HostedServer } from './conformance-examples.ts'
import type { Example, ExampleServer } from './inventory.ts'

const EXAMPLES = join(import.meta.dirname, '..', 'examples')
/** The suite cannot log in, so protected servers let everyone in. */
const HTTP = { http: { port: 0, auth: false } } as const
const CALLER = { sub: 'ann', scopes: ['orders:write'] }

type Exports = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>

/** Starts a server of an example on a free port; returns the port. */
const STARTS: Readonly<
  Record<NonNullable<ExampleServer['start']>, (path: string, name: string) => Promise<number>>
> = {
  listens: (path) => launched(path, undefined),
  exports: (path, name) => launched(path, name),
  // The functions that some take record what happens; nobody reads it here.
  creates: async (path, name) => {
    const app = (await call(path, name, () => undefined)) as App
    return portOf((await app.listen(HTTP)).url)
  },
  serves: async (path, name) => portOf(((await call(path, name)) as { readonly url?: string }).url),
  mounts: async (path, name) => listening((await call(path, name, createHarbour(), 0)) as Server),
  site: async (path, name) => {
    const site = (await call(path, name, () => CALLER)) as { listen(port: number, host: string): Server }
    return listening(site.listen(0, '127.0.0.1'))
  },
}

async function launched(path: string, name: string | undefined): Promise<number> {
  return portOf((await launch({ path, name }, { listen: () => HTTP })).url)
}

async function call(path: string, name: string, ...args: readonly unknown[]): Promise<unknown> {
  const exports = (await import(pathToFileURL(path).href)) as Exports
  return exports[name]?.(...args)
}

function portOf(url: string | undefined): number {
  if (url === undefined) throw new Error('it does not listen on HTTP')
  return Number(new URL(url).port)
}

async function listening(server: Server): Promise<number> {
  if (!server.listening) await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Starts a server and looks at what it offers. */
async function host(
  folder: string,
  { file, start, export: name = '' }: ExampleServer,
): Promise<HostedServer> {
  if (start === undefined) throw new Error('it cannot start by itself')
  const url = `http://localhost:${await STARTS[start](join(EXAMPLES, folder, file), name)}/mcp`
  await using client = await connect(url)
  const { capabilities } = await client.server()
  const tools = 'tools' in capabilities ? (await client.tools().toArray()).length : 0
  return { url, tools, capabilities: Object.keys(capabilities) }
}

// Its parent sends one example after the other, and reads where each of its servers listens.
process.on('message', (message) => {
  const { folder, server } = message as { readonly folder: Example['folder']; readonly server: ExampleServer }
  host(folder, server).then(
    (hosted) => process.send?.(hosted),
    (error: unknown) => process.send?.({ problem: error instanceof Error ? error.message : String(error) }),
  )
})
process.on('disconnect', () => process.exit())
