pub fn find(){} pub fn presets(){}
