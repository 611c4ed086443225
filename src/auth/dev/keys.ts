import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose'
import { randomText } from '../digests.ts'

interface SigningKey {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
}

const ALGORITHM = 'ES256'

/** The keys of the authorization server. The last one signs; the one before it still verifies. */
export class Keys {
  readonly #keys: SigningKey[] = []

  /** The public keys, as the issuer publishes them. */
  get jwks(): { readonly keys: readonly JWK[] } {
    return { keys: this.#keys.map(({ publicJwk }) => publicJwk) }
  }

  /** Signs with a new key from now on. Tokens of the previous key stay valid. */
  async rotate(): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(ALGORITHM)
    const kid = randomText(8)
    const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: ALGORITHM, use: 'sig' }
    this.#keys.push({ kid, privateKey, publicJwk })
    if (this.#keys.length > 2) this.#keys.shift()
  }

  sign(typ: string, claims: JWTPayload): Promise<string> {
    const { kid, privateKey } = this.#keys.at(-1) as SigningKey
    return new SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, typ, kid }).sign(privateKey)
  }
}
