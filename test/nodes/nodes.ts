import { onTestFinished } from 'vitest'
import {
  createServer,
  type App,
  type ListenOptions,
  type Running,
  type ServerOptions,
} from '../../src/index.ts'
import { Session } from '../http/server.ts'
import { RoundRobin } from './proxy.ts'
import { Stores, type View } from './store.ts'

/** A server that is one of several nodes. */
export interface TestNode {
  readonly app: App
  readonly running: Running
  readonly port: number
  readonly view: View
}

export interface Cluster {
  readonly stores: Stores
  readonly nodes: readonly TestNode[]
}

export interface ClusterOptions extends Partial<ServerOptions> {
  readonly count?: number
  readonly stores?: Stores
  readonly define?: (app: App) => void
  readonly listen?: ListenOptions
}

/** Starts several servers that share stores, until the test is over. */
export async function startNodes(options: ClusterOptions = {}): Promise<Cluster> {
  const { count = 2, stores = new Stores(), define, listen = { http: { port: 0 } }, ...rest } = options
  const nodes: TestNode[] = []
  for (let at = 0; at < count; at++) {
    const view = stores.view(`node ${at + 1}`)
    const app = createServer({
      name: 'nodes',
      version: '1',
      log: () => undefined,
      ...rest,
      store: view.driver,
    })
    define?.(app)
    const running = await app.listen(listen)
    onTestFinished(async () => {
      view.isAway = false
      await app.close()
    })
    nodes.push({ app, running, port: Number(new URL(running.url as string).port), view })
  }
  return { stores, nodes }
}

/** A proxy that passes each request to the next node, until the test is over. */
export async function balance(nodes: readonly TestNode[]): Promise<RoundRobin> {
  const proxy = await new RoundRobin(nodes.map(({ port }) => port)).listen()
  onTestFinished(() => proxy.close())
  return proxy
}

/** The same session at another node. */
export function at({ port }: { readonly port: number }, session: Session): Session {
  return new Session(port, session.headers)
}

/** Makes a node look dead: it says nothing more, and hears nothing. */
export function kill({ stores }: Cluster, number: number, node: TestNode): void {
  stores.nodes.dead.add(number)
  node.view.isAway = true
}
