export interface User {
  readonly name: string
  readonly isAdmin: boolean
}

export interface Row {
  readonly name: string
  readonly isOld: boolean
}

/** The rows that were imported, by user. */
export const imported: Map<string, Row[]> = new Map()

export async function findUser(sub: string | undefined): Promise<User> {
  return { name: sub ?? 'guest', isAdmin: sub === 'ada' }
}

export async function readRows(file: string, { signal }: { readonly signal: AbortSignal }): Promise<Row[]> {
  signal.throwIfAborted()
  const names =
    file === 'large' ? Array.from({ length: 1000 }, (_, index) => `row ${index}`) : ['Gull', 'Tern']
  return names.map((name) => ({ name, isOld: name === 'Tern' }))
}

export async function importRow(user: User, row: Row): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  imported.set(user.name, [...(imported.get(user.name) ?? []), row])
}
