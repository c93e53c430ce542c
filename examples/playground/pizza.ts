/** The order of a pizza, which has every kind of field. */
import * as z from 'zod'

/** What an order contains. */
export const order = z.object({
  size: z.enum(['small', 'medium', 'large']).default('medium').describe('Of the pizza.'),
  toppings: z
    .array(z.enum(['olives', 'mushrooms', 'basil', 'chilli']))
    .describe('Any number of them.'),
  notes: z.array(z.string()).optional().describe('For the kitchen.'),
  delivery: z
    .object({
      street: z.string(),
      city: z.string(),
      at: z.iso.datetime().optional(),
      ring: z.boolean().optional().describe('Whether to ring the bell.'),
    })
    .describe('Where to bring it.'),
  extra: z.record(z.string(), z.unknown()).optional().describe('Anything else, as JSON.'),
})
