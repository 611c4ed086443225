import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, McpError, ToolError, type App } from '../../src/index.ts'
import { erlmcp, official } from '../../src/profiles.ts'
import { TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import { failureOf } from '../harness/failure.ts'

function createApp(profile = erlmcp): App {
  return createServer({ name: 'films', version: '1', profile, log: () => undefined })
    .tool('render', { description: 'Renders', task: 'optional' }, () => 'a film')
    .tool('look', { description: 'Looks' }, () => 'seen')
}

test.each([erlmcp, official])(
  'tasks have the official capability of each revision, in every profile [S2-2.3-4] [S2-9.3-6]',
  async (profile) => {
    const app = createApp(profile)
    await using old = await connect(app, { profile, revision: '2025-11-25' })
    const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } }
    expect((await old.server()).capabilities).toMatchObject({ tasks })
    await using newest = await connect(app, { profile, revision: '2026-07-28' })
    expect((await newest.server()).capabilities).toMatchObject({ extensions: { [TASKS_EXTENSION]: {} } })
  },
)

test('tasks/create starts a task at 2025-11-25 in profile erlmcp, and nowhere else [S2-9.4-10]', async () => {
  await using client = await connect(createApp(), { profile: erlmcp, revision: '2025-11-25' })
  const { task } = await client.request('tasks/create', { name: 'render', arguments: {} })
  expect(task).toMatchObject({ taskId: expect.any(String), status: expect.any(String) })
  const never = await failureOf(client.request('tasks/create', { name: 'look' }))
  expect(never.message).toContain('cannot be called as a task')
  await using older = await connect(createApp(), { profile: erlmcp, revision: '2025-06-18' })
  await using plain = await connect(createApp(official), { revision: '2025-11-25' })
  for (const other of [older, plain])
    expect((await failureOf(other.request('tasks/create', { name: 'render' }))).code).toBe(-32601)
})

test('a failure that the handler meant is never tried again, also where it is an error [S2-9.4-10]', async () => {
  const attempts: string[] = []
  const app = createServer({ name: 'films', version: '1', profile: erlmcp, log: () => undefined })
    .tool('meant', { task: { retries: 3 } }, (_, { attempt }) => {
      attempts.push(`meant ${attempt}`)
      throw new ToolError('no film of this name')
    })
    .tool('rejected', { task: { retries: 3 } }, (_, { attempt }) => {
      attempts.push(`rejected ${attempt}`)
      throw new McpError('custom', 'no', { code: 4009 })
    })
  await using client = await connect(app, { profile: erlmcp, revision: '2025-11-25' })
  for (const name of ['meant', 'rejected'] as const) {
    const { id } = await client.start(name, {})
    await expect.poll(async () => (await app.tasks.show(id!))?.status).toBe('failed')
  }
  expect(attempts).toEqual(['meant 1', 'rejected 1'])
  await app.close()
})
