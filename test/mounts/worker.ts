import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import type { Started } from './runtimes.ts'

/** The conditions under which wrangler resolves packages; the first makes ours resolve to its sources. */
const CONDITIONS = ['pierhead-source', 'workerd', 'worker', 'browser']

export interface WorkerOptions {
  readonly flags?: readonly string[]
  readonly date?: string
  /** The variables of the worker. */
  readonly bindings?: Readonly<Record<string, string>>
  /** The class behind each binding of a Durable Object. */
  readonly durableObjects?: Readonly<Record<string, string>>
}

/** The first date at which a request may settle what another one waits for. */
export const OLDEST_DATE = '2024-10-14'

/** What workerd prints about a request that used the I/O of another one, or that it stopped. */
const COMPLAINT = /hung|on behalf of a different request|never complete|Uncaught/

/** Bundles a module of this folder as wrangler does. */
async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    conditions: CONDITIONS,
    mainFields: ['browser', 'module', 'main'],
    logLevel: 'silent',
  })
  return outputFiles[0]!.text
}

/** Starts a module of this folder under workerd, on a free port of loopback. */
export async function startWorker(entry: string, options: WorkerOptions = {}): Promise<Started> {
  const { flags = [], date = '2026-04-01', durableObjects = {}, bindings = {} } = options
  const printed: string[] = []
  const miniflare = new Miniflare({
    modules: true,
    script: await bundle(entry),
    host: '127.0.0.1',
    compatibilityDate: date,
    durableObjects: { ...durableObjects },
    bindings: { ...bindings },
    compatibilityFlags: [...flags],
    handleRuntimeStdio: (stdout: Readable, stderr: Readable) => {
      for (const stream of [stdout, stderr]) stream.on('data', (chunk: Buffer) => printed.push(String(chunk)))
    },
  })
  const url = new URL('/mcp', await miniflare.ready)
  const stop = async (): Promise<void> => {
    await miniflare.dispose()
    const complaint = printed.find((text) => COMPLAINT.test(text))
    if (complaint !== undefined) throw new Error(`workerd complained: ${complaint}`)
  }
  return { url: url.href, port: Number(url.port), printed, stop }
}
