import { report } from './report.ts'

export default { report }
