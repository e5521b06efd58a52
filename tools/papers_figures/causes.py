WHY=()
