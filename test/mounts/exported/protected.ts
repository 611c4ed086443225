import { createServer } from 'pierhead'
import { introspection, oauth } from 'pierhead/auth'

interface Execution {
  waitUntil(promise: Promise<unknown>): void
}

type Serve = (request: Request, extras: { readonly execution: Execution }) => Promise<Response>

const resource = 'https://mcp.example/mcp'
const credentials = { clientId: 'server', clientSecret: 'the secret of the server' }

// Methods can be created at global scope, where Workers allow neither I/O nor random values.
oauth({ issuer: 'https://id.example', resource, dpop: { nonces: true } })

const servers = new Map<string, Serve>()

/** A server with the issuer of a test. Its tokens are verified here, or by the issuer if the test asks for it. */
function create(issuer: string, isIntrospected: boolean): Serve {
  const auth = isIntrospected
    ? introspection({ issuer, resource, ...credentials })
    : oauth({ issuer, resource, dpop: { nonces: true } })
  return createServer({ name: 'protected', version: '1.0.0', auth })
    .tool('who', {}, (_, { auth: caller }) => `${caller?.sub} of ${String(caller?.['issuer'])}`)
    .fetchWith({})
}

export default {
  fetch(request: Request, _env: unknown, execution: Execution): Promise<Response> {
    const [issuer, mode] = [request.headers.get('x-issuer') ?? '', request.headers.get('x-mode')]
    const key = `${issuer} ${mode}`
    const server = servers.get(key) ?? create(issuer, mode === 'introspection')
    servers.set(key, server)
    return server(request, { execution })
  },
}
