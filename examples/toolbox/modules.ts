import type { ToolMap } from 'pierhead'
import { colours } from './modules/colours.ts'
import { csv } from './modules/csv.ts'
import { dates } from './modules/dates.ts'
import { encoding } from './modules/encoding.ts'
import { geometry } from './modules/geometry.ts'
import { hashing } from './modules/hashing.ts'
import { json } from './modules/json.ts'
import { lists } from './modules/lists.ts'
import { numbers } from './modules/numbers.ts'
import { schedules } from './modules/schedules.ts'
import { statistics } from './modules/statistics.ts'
import { text } from './modules/text.ts'
import { units } from './modules/units.ts'
import { uris } from './modules/uris.ts'

/** The modules of the toolbox, in the order in which clients see their tools. */
export const MODULES: Readonly<Record<string, ToolMap>> = {
  text,
  numbers,
  dates,
  units,
  json,
  csv,
  lists,
  statistics,
  geometry,
  colours,
  encoding,
  hashing,
  uris,
  schedules,
}
