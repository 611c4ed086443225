import { expect, it } from 'vitest'
import { createServer } from 'pierhead'
import { line } from './line.ts'

it('shows the title of what is listed, unless it says nothing more, and has it in JSON', async () => {
  const issues = { 1: 'Broken link', 2: 'Typo\u001b[31m' }
  const app = createServer({ name: 'desk', version: '1.0.0' })
  const list = () => Object.entries(issues).map(([id, title]) => ({ variables: { id }, title }))
  app.resource('issues://{id}', { name: 'issue', description: 'An issue.', list }, ({ id }) => `${id}`)
  app.resource('notes://all', { name: 'notes', title: 'All notes' }, () => 'none')
  app.resource('notes://own', { name: 'own', title: 'own' }, () => 'none')
  app.tool('close', { title: 'Close an issue', description: 'Closes it.' }, () => 'closed')
  app.tool('open', { title: 'Opens it.', description: 'Opens it.' }, () => 'opened')
  app.prompt('triage', { title: 'Triage' }, () => 'Triage.')
  const running = await app.listen({ http: { port: 0 } })
  try {
    const { stdout } = await line(['list', running.url ?? ''], { terminal: true })
    expect(stdout.split('\n')).toEqual([
      'tools (2)',
      '  close()',
      '      Close an issue: Closes it.',
      '  open()',
      '      Opens it.',
      '',
      'resources (4)',
      '  issues://1',
      '      Broken link: An issue.',
      '  issues://2',
      String.raw`      Typo\u001b[31m: An issue.`,
      '  notes://all',
      '      All notes',
      '  notes://own',
      '      own',
      '',
      'templates (1)',
      '  issues://{id}',
      '      An issue.',
      '',
      'prompts (1)',
      '  triage()',
      '      Triage',
      '',
    ])
    const listed = JSON.parse((await line(['list', running.url ?? '', 'resources'])).stdout)
    expect(listed.resources).toMatchObject([{ title: 'Broken link' }, {}, { title: 'All notes' }, {}])
  } finally {
    await running.close()
  }
})
