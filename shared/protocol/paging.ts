import Type from 'typebox';

/** Members that a list in an object has beside its entries. */
export const pageMembers = {
  total: Type.Integer({ minimum: 0 }),
  pagination: Type.Object(
    { total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer(), has_more: Type.Boolean() },
    { additionalProperties: false },
  ),
};
