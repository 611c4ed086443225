import { createRemoteJWKSet, jwtVerify } from 'jose'
import { oauth } from 'pierhead/auth'
import { runCommands } from './commands.ts'

/** The commands of this process, by name. */
export interface VerifyCommands {
  readonly time: {
    readonly issuer: string
    readonly resource: string
    /** Tokens that were not verified before. */
    readonly tokens: readonly string[]
  }
}

/** The mean time for one token, in microseconds. */
export interface VerifyTimes {
  readonly oauthUs: number
  readonly joseUs: number
}

runCommands<VerifyCommands>({
  time: async ({ issuer, resource, tokens }): Promise<VerifyTimes> => {
    const method = oauth({ issuer, resource })
    const keys = createRemoteJWKSet(new URL(`${issuer}/keys`))
    const verify = async (token: string): Promise<void> => {
      const verdict = await method.verify(token)
      if (verdict === undefined || 'rejected' in verdict) throw new Error('a good token was rejected')
    }
    const check = async (token: string): Promise<void> => {
      await jwtVerify(token, keys, { issuer, audience: resource, algorithms: ['ES256'] })
    }
    // The first of each also fetches the keys.
    const [first, ...rest] = tokens as [string, ...string[]]
    await verify(first)
    await check(first)
    return { joseUs: await meanOf(rest, check), oauthUs: await meanOf(rest, verify) }
  },
})

async function meanOf(tokens: readonly string[], act: (token: string) => Promise<void>): Promise<number> {
  const start = performance.now()
  for (const token of tokens) await act(token)
  return ((performance.now() - start) * 1000) / tokens.length
}
