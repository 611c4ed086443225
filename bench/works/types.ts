import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../../tools/run.ts'
import type { Sample, Work } from '../measure.ts'
import { LIMIT, OURS, type Subject, TMCP, V1, V2 } from '../subjects.ts'
import { type Dialect, serverText } from '../types-source.ts'

const FOLDER = '.cache/bench-types'
/** The same tools as one flat map. */
const OURS_MAP: Subject = { ...OURS, name: 'pierhead, defineTools' }
const DIALECTS: ReadonlyMap<Subject, Dialect> = new Map([
  [LIMIT, 'schemas'],
  [OURS, 'pierhead'],
  [OURS_MAP, 'pierhead-map'],
  [V1, 'v1'],
  [V2, 'v2'],
  [TMCP, 'tmcp'],
])

/** What the compiler does for a generated server of many tools; the limit is the schemas alone. */
export const typeCost: Work = {
  name: 'types',
  run: async (plan, say) => {
    rmSync(FOLDER, { recursive: true, force: true })
    mkdirSync(FOLDER, { recursive: true })
    return plan.typeCounts.flatMap((tools) =>
      [...DIALECTS].flatMap(([subject, dialect]) => {
        const { instantiations, types } = check(dialect, tools)
        say(`${subject.name}, ${tools} tools: ${instantiations} instantiations, ${types} types`)
        const work = `type check, ${tools} tools of five fields with outputs`
        return [
          { work, subject, value: instantiations, unit: 'instantiations', better: 'less' },
          { work, subject, value: types, unit: 'types', better: 'less' },
        ] satisfies readonly Sample[]
      }),
    )
  },
}

function check(dialect: Dialect, tools: number): { readonly instantiations: number; readonly types: number } {
  const file = join(FOLDER, `${dialect}-${tools}.ts`)
  writeFileSync(file, serverText(dialect, tools))
  const flags = [
    '--strict',
    '--noEmit',
    '--skipLibCheck',
    '--singleThreaded',
    '--extendedDiagnostics',
    '--ignoreConfig',
  ]
  const target = ['--target', 'es2023', '--module', 'nodenext', '--types', 'node']
  const said = run(process.execPath, ['node_modules/typescript/bin/tsc', ...flags, ...target, file])
  const count = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(said)?.[1])
  return { instantiations: count('Instantiations'), types: count('Types') }
}
