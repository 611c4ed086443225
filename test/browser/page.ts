import { connect, type McpError, type Change, type Client, type Revision } from 'pierhead/client'

/** What a client in a page saw of a server. */
export interface Seen {
  readonly revision: string
  readonly tools: readonly string[]
  readonly sum: unknown
  readonly refused: string
  readonly progress: readonly number[]
  readonly answer: unknown
  readonly text: unknown
  readonly change: Change | undefined
  readonly state: string
}

export interface Failed {
  readonly kind: string
  readonly message: string
  readonly hint: string
}

/** Uses everything that a server at a URL offers, and leaves it. */
async function visit(url: string, revision?: Revision): Promise<Seen> {
  const asked: string[] = []
  const client = await connect(url, {
    ...(revision === undefined ? {} : { revision }),
    timeout: '10s',
    answers: {
      elicit: ({ message }) => {
        asked.push(message)
        return { action: 'accept', content: { ship: 'Ada' } }
      },
    },
  })
  const progress: number[] = []
  const tools: string[] = []
  for await (const { name } of client.tools()) tools.push(name)
  const seen = {
    revision: (await client.server()).revision,
    tools,
    sum: await client.call('add', { a: 2, b: 3 }),
    refused: await client.call('add', { a: 'two' }).then(String, (error: Error) => error.message),
    counted: await client.call('count', {}, { onProgress: (at) => progress.push(at.progress ?? 0) }),
    progress,
    answer: [await client.call('ask'), ...asked],
    change: await changed(client),
    text: (await client.read('harbour://tide')).contents,
  }
  await client.close()
  return { ...seen, state: client.state }
}

/** The first change of a resource, which the server makes once it is watched. */
async function changed(client: Client): Promise<Change | undefined> {
  for await (const change of client.watch({ resources: ['harbour://tide'] })) return change
  return undefined
}

async function fail(url: string): Promise<Failed | undefined> {
  try {
    await (await connect(url, { timeout: '10s' })).close()
    return undefined
  } catch (error) {
    const { kind, message, hint } = error as McpError
    return { kind, message, hint }
  }
}

/** Waits for timers, one after the other, while the stream for notifications of a server never ends; then calls a tool of it. */
async function endure(url: string, ticks: number): Promise<string> {
  const client = await connect(url, { timeout: '10s' })
  for (let at = 0; at < ticks; at++) await new Promise((resolve) => setTimeout(resolve, 10))
  const answer = await client.call('any')
  await client.close()
  return answer as string
}

Object.assign(globalThis, { visit, fail, endure })
