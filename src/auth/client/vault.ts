/** What is kept for one server and one issuer. All members are plain JSON. */
export interface StoredCredentials {
  /** The identifier that the client has at the issuer, with its secret if it got one when it registered. */
  readonly registration?: StoredRegistration | undefined
  /** The tokens of the last login. */
  readonly tokens?: StoredTokens | undefined
  /** Why the last tokens were removed, for the error of a program that may not log in (`storedOnly`). Default: unknown. */
  readonly lost?: string | undefined
  /** A login that somebody runs, for which others wait. Default: nobody runs one. */
  readonly pending?: PendingLogin | undefined
  /** The `id` of the last login that the person refused, for those who waited for it. Default: none. */
  readonly refused?: string | undefined
  /** The private key of DPoP proofs, as a JWK; the tokens are bound to it. */
  readonly dpopKey?: Readonly<Record<string, unknown>> | undefined
}

/** Marks an entry while a person logs in, so that nobody else who shares the vault asks for the same login. */
export interface PendingLogin {
  /** Tells logins apart. */
  readonly id: string
  /** When it counts as given up, in milliseconds since 1970. It is moved on while the login runs. */
  readonly until: number
}

/** A client as an issuer knows it. */
export interface StoredRegistration {
  /** The id that the issuer gave the client, or the URL of the document that describes it. */
  readonly clientId: string
  /** The secret that the issuer gave the client. Default: none. */
  readonly clientSecret?: string | undefined
  /** How the client authenticates at the token endpoint, if the issuer chose. Default: as its metadata says. */
  readonly authMethod?: string | undefined
  /** Where the issuer may send the browser after a login. Default: unknown. */
  readonly redirectUris?: readonly string[] | undefined
  /** When the secret expires, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number | undefined
}

/** Tokens as an issuer gave them. */
export interface StoredTokens {
  /** The token that is sent with requests to the server. */
  readonly accessToken: string
  /** Whether the token alone is enough, or each request needs a proof that is signed with `dpopKey`. */
  readonly type: 'bearer' | 'dpop'
  /** Gets the next tokens. Many issuers accept it only once. Default: none; the user logs in again. */
  readonly refreshToken?: string | undefined
  /** The scopes that were granted. Default: unknown. */
  readonly scopes?: readonly string[] | undefined
  /** The scopes that a login asked for and the issuer did not grant. Default: none. */
  readonly denied?: readonly string[] | undefined
  /** When the access token expires, in milliseconds since 1970. Default: unknown. */
  readonly expiresAt?: number | undefined
}

/**
 * Keeps credentials. Its keys are texts in which the client names the method, the issuer, the resource and the server. Implement it to keep
 * credentials elsewhere.
 *
 * `update` is the only way to write. It runs `change` with the current value while no other process or caller can write that key, stores what
 * `change` returns (undefined removes the entry), and resolves with it. If `change` rejects, nothing is stored and the lock is released. `change` runs once, and
 * may take as long as a request to an issuer; it must not update the same key. So two clients that refresh do so in turn, and the second sees the new
 * refresh token. When `signal` aborts, a caller that still waits for others may give up; a `change` that runs is never interrupted.
 */
export interface Vault {
  /** The function that created it, for messages. */
  readonly name: string
  /** The file that it keeps credentials in, for messages. Default: none. */
  readonly path?: string | undefined
  /** Reads the entry; undefined if there is none. */
  read(key: string): Promise<StoredCredentials | undefined>
  /** Changes the entry while nobody else can. */
  update(
    key: string,
    change: (current: StoredCredentials | undefined) => Promise<StoredCredentials | undefined>,
    signal?: AbortSignal,
  ): Promise<StoredCredentials | undefined>
  /** The keys of all entries. */
  keys(): Promise<readonly string[]>
}
