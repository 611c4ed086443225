import { checkEveryone } from './everyone.ts'

checkEveryone('HTTP+SSE', ['official v1'])
