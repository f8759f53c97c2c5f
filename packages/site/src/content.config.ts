import { defineCollection } from 'astro:content'
import { docsSchema } from '@astrojs/starlight/schema'
import { documents } from './docs/documents.ts'

export const collections = { docs: defineCollection({ loader: documents(), schema: docsSchema() }) }
