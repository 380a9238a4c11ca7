pub fn material_schema(){}
