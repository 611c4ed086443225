import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { TRANSITIONS } from '../src/tasks/states.ts'
import { statesDiagram, withDiagram } from './task-states.ts'

const guide = readFileSync(new URL('../docs/guides/tasks.md', import.meta.url), 'utf8')

test('the guide shows the states of tasks as the table has them [R241]', () => {
  expect(guide).toContain(statesDiagram())
  expect(withDiagram(guide)).toBe(guide)
})

test('the diagram has every transition of the table', () => {
  const drawn = statesDiagram()
  for (const [from, events] of Object.entries(TRANSITIONS))
    for (const to of Object.values(events)) expect(drawn).toContain(`${from} --> ${to}: `)
})

test('a diagram that differs from the table is noticed and drawn again', () => {
  const changed = guide.replace('working --> cancelled', 'working --> completed')
  expect(changed).not.toContain(statesDiagram())
  expect(withDiagram(changed)).toBe(guide)
})
