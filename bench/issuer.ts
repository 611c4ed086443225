import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** An authorization server that only publishes its key and signs tokens. */
export interface Issuer {
  readonly url: string
  /** Signs a token for a resource. No two are the same. */
  token(resource: string): Promise<string>
  close(): void
}

/** Starts an issuer of ES256 tokens on a free port. */
export async function startIssuer(): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const key = { ...(await exportJWK(publicKey)), kid: 'bench', alg: 'ES256', use: 'sig' }
  const server = createServer(({ url: path }, response) => {
    const url = urlOf(server)
    const document = path === '/keys' ? { keys: [key] } : { issuer: url, jwks_uri: `${url}/keys` }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  let count = 0
  return {
    url: urlOf(server),
    token: (resource) =>
      new SignJWT({ scope: 'mcp:use', client_id: 'bench', jti: `token-${count++}` })
        .setProtectedHeader({ alg: 'ES256', kid: 'bench', typ: 'at+jwt' })
        .setIssuer(urlOf(server))
        .setSubject('someone')
        .setAudience(resource)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function urlOf(server: ReturnType<typeof createServer>): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
