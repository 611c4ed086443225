import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fileVault, type Vault } from '../../src/auth-client.ts'
import { Deferred } from '../../src/base/deferred.ts'
import { logIn, record } from './engine-issuer.ts'
import { callTool, openAuth } from './engine-server.ts'
import { entryOf, startWorld } from './engine-world.ts'

/** Opens the same file as another process would. */
function newFile(): () => Vault {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-turn-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return () => fileVault({ path: join(folder, 'vault.json') })
}

test('programs that share a vault share a login: one asks, and the others take the result from the vault', async () => {
  const world = await startWorld()
  const open = newFile()
  const shown = new Deferred<undefined>()
  const finish = new Deferred<undefined>()
  const first = world.call('who', {
    vault: open(),
    open: async (page) => {
      shown.resolve(undefined)
      await finish.promise
      return world.open(page)
    },
  })
  await shown.promise
  const reads = [0, 0, 0]
  const others = reads.map((_, at) => {
    const vault = open()
    const read = (key: string): ReturnType<Vault['read']> => {
      reads[at] = reads[at]! + 1
      return vault.read(key)
    }
    return world.call('who', { vault: { ...vault, read } })
  })
  // They look again and again.
  await expect.poll(() => Math.min(...reads), { timeout: 20_000 }).toBeGreaterThan(6)
  expect(world.pages).toEqual([])
  finish.resolve(undefined)
  expect(await Promise.all([first, ...others])).toEqual(Array.from({ length: 4 }, () => 'ann notes:read'))
  expect(world.pages).toHaveLength(1)
  expect((await entryOf(open())).pending).toBe(undefined)
})

test('if the login of another program fails, the next one asks', async () => {
  const world = await startWorld()
  const shown = new Deferred<undefined>()
  const finish = new Deferred<undefined>()
  const first = world.fail('who', {
    open: async () => {
      shown.resolve(undefined)
      await finish.promise
      return new URL('http://127.0.0.1:9/elsewhere')
    },
  })
  await shown.promise
  const second = world.call('who')
  await expect.poll(() => world.server.replies.length).toBe(2)
  expect(world.pages).toHaveLength(0)
  finish.resolve(undefined)
  expect(await first).toMatchObject({ kind: 'login_failed' })
  expect(await second).toBe('ann notes:read')
  expect(world.pages).toHaveLength(1)
})

test('a refusal counts for all who waited for that login, and not for those who come later', async () => {
  const world = await startWorld()
  const shown = new Deferred<undefined>()
  const finish = new Deferred<undefined>()
  const refused: URL[] = []
  const open = async (page: URL): Promise<URL> => {
    refused.push(page)
    shown.resolve(undefined)
    await finish.promise
    return logIn(page, false)
  }
  const first = world.fail('who', { open })
  await shown.promise
  const reads = [0, 0, 0]
  const others = reads.map((_, at) => {
    const read = (key: string): ReturnType<Vault['read']> => {
      reads[at] = reads[at]! + 1
      return world.vault.read(key)
    }
    return world.fail('who', { open, vault: { ...world.vault, read } })
  })
  await expect.poll(() => Math.min(...reads), { timeout: 20_000 }).toBeGreaterThan(6)
  finish.resolve(undefined)
  for (const error of await Promise.all([first, ...others]))
    expect(error).toMatchObject({ kind: 'login_failed', message: expect.stringMatching(/refuse|denied/) })
  expect(refused).toHaveLength(1)
  expect(await world.call('who')).toBe('ann notes:read')
  expect(world.pages).toHaveLength(1)
})

test('a login stays marked while it registers once more', async () => {
  const world = await startWorld()
  await world.call('who')
  const [key = ''] = await world.vault.keys()
  await world.vault.update(key, async (current) => ({ registration: current?.registration }))
  let isFirst = true
  record(world.issuer, '/token', (reply) => {
    if (!isFirst) return reply
    isFirst = false
    return Response.json({ error: 'invalid_client' }, { status: 401 })
  })
  const marks: boolean[] = []
  await world.call('who', {
    open: async (page) => {
      marks.push((await world.vault.read(key))?.pending !== undefined)
      return world.open(page)
    },
  })
  expect(marks).toEqual([true, true])
})

test('while it waits for the login of another program, the clock of a request stops, and it can be given up', async () => {
  const world = await startWorld()
  const shown = new Deferred<undefined>()
  void world
    .fail('who', {
      open: () => {
        shown.resolve(undefined)
        return new Promise(() => undefined)
      },
      timeout: '30s',
    })
    .catch(() => undefined)
  await shown.promise
  const paused = new Deferred<undefined>()
  const stop = new AbortController()
  const client = openAuth(world.login(), world.server.url)
  const call = callTool(client, world.server.url, 'who', {
    signal: stop.signal,
    pause: () => {
      paused.resolve(undefined)
      return () => undefined
    },
  })
  await paused.promise
  stop.abort(new Error('tired'))
  await expect(call).rejects.toThrow('tired')
  expect(world.pages).toEqual([])
})

test.each([
  ['ended without a word', -1],
  ['had a clock that was wrong', 3_600_000],
])('a login of a program that %s is not waited for', async (_, leftMs) => {
  const world = await startWorld()
  await world.call('who')
  const [key = ''] = await world.vault.keys()
  const pending = { id: 'gone', until: Date.now() + leftMs }
  await world.vault.update(key, async () => ({ pending }))
  expect(await world.call('who')).toBe('ann notes:read')
  expect(world.pages).toHaveLength(2)
  expect((await entryOf(world.vault)).pending).toBe(undefined)
})

test('users of one program share a vault, and never a login', async () => {
  const world = await startWorld()
  const users = ['ann', 'bert', ' bert', 'ann bert', 'ann%20bert', '%']
  for (const user of users) await world.call('who', { user })
  expect(world.pages).toHaveLength(users.length)
  expect(new Set(await world.vault.keys()).size).toBe(users.length)
  const tokens = new Set<unknown>()
  for (const user of users) {
    world.server.replies.length = 0
    await world.call('who', { user, storedOnly: true })
    for (const { token } of world.server.replies) tokens.add(token)
  }
  expect(tokens.size).toBe(users.length)
  const error = await world.fail('who', { user: 'carl', storedOnly: true })
  expect(error).toMatchObject({ kind: 'login_needed', data: { reason: 'no_login' } })
  expect(await world.fail('who', { storedOnly: true })).toMatchObject({ kind: 'login_needed' })
})
