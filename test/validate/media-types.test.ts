import { MEDIA_TYPE_RULES } from '../../src/validate/server-rules/media-types.ts'
import { MEDIA_TYPE_FAULTS, MEDIA_TYPE_VARIANTS } from './media-type-faults.ts'
import { prove } from './prove.ts'

prove('Types in headers', MEDIA_TYPE_RULES, MEDIA_TYPE_FAULTS, MEDIA_TYPE_VARIANTS)
