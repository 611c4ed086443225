import { add } from './add.ts'

export default { add }
