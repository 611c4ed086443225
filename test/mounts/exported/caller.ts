import { connect, type McpError } from 'pierhead/client'
import { connectGist } from 'pierhead/gist'

interface Callable {
  call(tool: string, args: Record<string, never>): Promise<unknown>
  close(): Promise<void>
}

/** A Worker that calls a tool of the server in `?url=` with the timeout in `?ms=` and replies with the outcome, or just with `pong`. */
export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/ping') return new Response('pong')
    const url = searchParams.get('url') ?? ''
    const options = { timeout: Number(searchParams.get('ms')), limits: { clientBytes: 100_000 } }
    const client: Callable =
      pathname === '/gist' ? await connectGist(url, options) : await connect(url, options)
    const outcome = await client.call('any', {}).then(JSON.stringify, ({ kind }: McpError) => kind)
    await client.close()
    return new Response(outcome)
  },
}
